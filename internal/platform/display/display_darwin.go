package display

const system = "macOS"
