package sleep

func open(Options) backend { return unsupported{"macOS"} }

func openDesktop(DesktopOptions) desktopBackend { return noDesktop{unsupported{"macOS"}} }
