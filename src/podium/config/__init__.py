"""What the scheduler is told: its configuration file, plugin arguments and feature gates.

Everything here is pure: plain values in, typed values or a `ConfigurationError` out. Reading files
is somebody else's work, and so is knowing the plugins, of which this package has only the names and
the shape of their arguments.
"""

from podium.config.effective import effective, expanded
from podium.config.errors import ConfigurationError, FieldProblem
from podium.config.expand import expand_profile, expand_profiles
from podium.config.load import load_configuration, load_file
from podium.config.merge import PluginListError, expand_point, merge_plugins
from podium.config.points import ExtensionPoint
from podium.config.types import (
    Configuration,
    PluginRef,
    Plugins,
    PluginSet,
    ProfileConfiguration,
)
from podium.kubernetes.releases.feature_gates import FeatureGateError, FeatureGates

__all__ = [
    "Configuration",
    "ConfigurationError",
    "ExtensionPoint",
    "FeatureGateError",
    "FeatureGates",
    "FieldProblem",
    "PluginListError",
    "PluginRef",
    "PluginSet",
    "Plugins",
    "ProfileConfiguration",
    "effective",
    "expand_point",
    "expand_profile",
    "expand_profiles",
    "expanded",
    "load_configuration",
    "load_file",
    "merge_plugins",
]
