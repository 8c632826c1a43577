package transporttest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/transporttest"
	"github.com/foretick/foretick/transport/udp"
)

// conforms shows a transport's own test; it would be called TestConformance.
func conforms(t *testing.T) {
	transporttest.Run(t, func(t testing.TB) transporttest.Net {
		cfg := udp.Config{Timeout: 500 * time.Millisecond}
		return transporttest.Net{
			Server: func() transport.Endpoint {
				srv, err := udp.Listen("127.0.0.1:0", cfg)
				if err != nil {
					t.Fatal(err)
				}
				return srv
			},
			Client: func(server transport.Endpoint) transport.Endpoint {
				cli, err := udp.Dial(server.(*udp.Endpoint).LocalAddr().String(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				return cli
			},
			Concurrent: true,
			Timeout:    cfg.Timeout,
		}
	})
}

// The suite runs as subtests of one test. See conforms: go test finds it under the name TestConformance.
func ExampleRun() {
	test := testing.InternalTest{Name: "TestConformance", F: conforms}
	fmt.Println(test.Name)
	// Output:
	// TestConformance
}
