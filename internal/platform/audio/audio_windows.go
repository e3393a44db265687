package audio

const system = "Windows"
