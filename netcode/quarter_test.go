package netcode_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// TestRequestsGetAQuarterOfAnyRate: commands that alone are more than the rate
// starve no reliable message.
func TestRequestsGetAQuarterOfAnyRate(t *testing.T) {
	for _, size := range []int{20, 300} {
		for _, hz := range []int{60, 128} {
			t.Run(fmt.Sprintf("%d bytes at %d Hz", size, hz), func(t *testing.T) {
				a := netcode.NewConn(netcode.Config{Rate: 4000, FixedRate: true})
				b := netcode.NewConn(netcode.Config{})
				got, commands, sent := 0, 0, 0
				const seconds = 20
				for i := range seconds * hz {
					now := time.Duration(i) * time.Second / time.Duration(hz)
					for a.SendReliable(0, 1, make([]byte, size)) == nil && a.Pending() < 100 {
					}
					p := a.Begin(now)
					if p.Message(20, make([]byte, 60)) {
						commands++
					}
					_, d := p.Finish()
					sent += len(d)
					require.NoError(t, b.Receive(now, d))
					for r, ok := b.NextReliable(); ok; r, ok = b.NextReliable() {
						got += len(r.Payload)
					}
					_, d = b.Begin(now).Finish()
					require.NoError(t, a.Receive(now, d))
				}
				require.Equal(t, seconds*hz, commands, "commands always go")
				require.GreaterOrEqual(t, got, 1000*seconds*7/10, "less what heads take")
				require.LessOrEqual(t, sent, seconds*(hz*(60+16)+1100)+4000)
			})
		}
	}
}
