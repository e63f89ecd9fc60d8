"""The command of the plugin, in a package of its own: `disorder --help` imports it."""
