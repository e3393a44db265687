module example.com/guard

go 1.26

require github.com/lidguard-go/lidguard v0.0.0
