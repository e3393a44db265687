package sleep

func open(Options) backend { return unsupported{"Windows"} }

func openDesktop(DesktopOptions) desktopBackend { return noDesktop{unsupported{"Windows"}} }
