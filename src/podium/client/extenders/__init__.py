"""The protocol of extenders: asking those of a configuration, and the class of those who answer."""
