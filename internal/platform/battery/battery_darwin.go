package battery

const system = "macOS"
