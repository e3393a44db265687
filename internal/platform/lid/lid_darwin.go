package lid

func open(Options, func()) backend { return nothing{"macOS"} }
