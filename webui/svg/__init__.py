"""Tables drawn as SVG."""
