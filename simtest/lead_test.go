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

// leadRows plays at several tick rates and round trips without jitter.
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

// Two seconds after a client joins on a link without jitter, its lead is little more than needed.
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

// Three seconds after one second of jitter the lead is as before.
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

// Slow frames, as of a page that loads, increase the lead only for a short time.
func TestLeadForgetsSlowFrames(t *testing.T) {
	for _, stood := range []time.Duration{100 * time.Millisecond, 150 * time.Millisecond, 220 * time.Millisecond, 300 * time.Millisecond} {
		t.Run(stood.String(), func(t *testing.T) {
			m := newSlowMatch(t, 30, sim.Link{Latency: 125 * time.Millisecond})
			settled := m.settledLead(15 * time.Second)
			for range 3 {
				m.pause(stood)
				m.run(m.now + 100*time.Millisecond)
			}
			m.run(m.now + 3*time.Second)
			soon := m.leads(m.now + 200*time.Millisecond)
			t.Logf("lead %v before, %v after 3 s", settled, soon)
			require.LessOrEqual(t, soon.Seconds(), 1.2*settled.Seconds())
			require.LessOrEqual(t, m.client.Stats().Clock.InputBuffer, 80*time.Millisecond)
		})
	}
}

// pause plays without the client.
func (m *slowMatch) pause(d time.Duration) {
	for until := m.now + d; m.now < until; m.now += time.Millisecond {
		m.net.Run(m.now)
		if m.now >= m.next {
			m.server.Step(time.Unix(1000, 0).Add(m.now))
			m.next = m.now + m.every()
		}
	}
}
