package display

const system = "Windows"
