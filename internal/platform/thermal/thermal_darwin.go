package thermal

const system = "macOS"
