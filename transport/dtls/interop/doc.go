// Package interop tests package dtls against another implementation of the same standards: the suites of RFC 7905 in
// github.com/pion/dtls/v3. It contains only tests. It is a separate module, so that users of the library do not
// download that version. It uses replace instead of go.work, so that the library's own tests do not build with that
// module's dependency versions:
//
//	cd transport/dtls/interop && GOWORK=off go test ./...
package interop
