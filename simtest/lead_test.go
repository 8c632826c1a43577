package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport/sim"
)

// settledLead plays until a time, and returns the median lead of the last three seconds.
func (m *slowMatch) settledLead(until time.Duration) time.Duration {
	m.run(until - 3*time.Second)
	return m.leads(until)
}

// leadRows are tick rates and round trips without jitter.
func leadRows(t *testing.T, play func(t *testing.T, m *slowMatch, client sim.Link)) {
	for _, rate := range []int{30, 60} {
		for _, rtt := range []time.Duration{0, 30 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond} {
			t.Run(fmt.Sprintf("%d Hz, %v", rate, rtt), func(t *testing.T) {
				link := sim.Link{Latency: rtt / 2}
				play(t, newSlowMatch(t, rate, link), link)
			})
		}
	}
}

// A client that joins on a calm path runs ahead by little more than it needs two seconds later.
func TestLeadSettlesSoonAfterAJoin(t *testing.T) {
	leadRows(t, func(t *testing.T, m *slowMatch, _ sim.Link) {
		for m.client.View().Lead == 0 {
			m.run(m.now + time.Millisecond)
		}
		began := m.now
		m.run(began + 2*time.Second)
		soon := m.leads(m.now + 200*time.Millisecond)
		settled := m.settledLead(began + 30*time.Second)
		t.Logf("lead %v after 2 s, %v settled", soon, settled)
		require.LessOrEqual(t, soon.Seconds(), 1.2*settled.Seconds())
	})
}

// One second of jitter is forgotten three seconds after it.
func TestLeadForgetsABadSecond(t *testing.T) {
	leadRows(t, func(t *testing.T, m *slowMatch, link sim.Link) {
		settled := m.settledLead(20 * time.Second)
		bad := link
		bad.Jitter = 200 * time.Millisecond
		m.net.SetLink(m.dialled, bad, bad)
		m.run(21 * time.Second)
		m.net.SetLink(m.dialled, link, link)
		highest := m.leads(24 * time.Second)
		soon := m.leads(24*time.Second + 200*time.Millisecond)
		t.Logf("lead %v before, %v in between, %v after 3 s", settled, highest, soon)
		require.LessOrEqual(t, soon.Seconds(), 1.2*settled.Seconds())
	})
}
