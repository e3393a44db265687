package thermal

const system = "Windows"
