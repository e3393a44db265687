// Package s3 is one story on a machine that really sleeps: a virtual one with
// Debian's kernel, a lid switch and S3. In comes a lidguard program; it works,
// sleeps, wakes and goes on. The tests are built with the tag lidvm and run inside
// that machine only, which e2e/lab/platform/vm.sh boots; they are no part of ./test,
// since emulating a machine takes minutes. From the checkout, as root:
//
//	export LIDLAB_CACHE=$PWD/.cache/lidlab LIDLAB_VM_TIMEOUT=1200
//	e2e/lab/platform/vm.sh install
//	CGO_ENABLED=0 go build -o /tmp/lidguard-s3/ ./cmd/lidguard
//	LIDLAB_WAKE=30 CGO_ENABLED=0 go test -count=1 -v -tags lidvm -exec "$PWD/e2e/lab/platform/vm.sh run --user lab --file /tmp/lidguard-s3/lidguard --" ./e2e/s3
package s3
