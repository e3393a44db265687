package battery

const system = "Windows"
