"""What any plugin's arguments may begin with: version and kind, as configurations of the collection
have them. They say nothing that the plugin's name does not say."""

import msgspec


class ArgsHeader(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
