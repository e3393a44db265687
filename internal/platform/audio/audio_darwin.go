package audio

const system = "macOS"
