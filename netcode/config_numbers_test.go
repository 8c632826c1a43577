package netcode_test

import (
	"testing"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/netcode"
)

// TestConfigNumbers: zero is the default, negative is off or an error, and an absurd
// value is an error that names the field.
func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[netcode.Config](t, fieldtest.Rules{Any: []string{"Magic"}}, func(c netcode.Config) error {
		netcode.NewConn(c)
		return c.Validate()
	})
	for _, reliable := range []bool{false, true} {
		fieldtest.Config[netcode.Channel](t, fieldtest.Rules{Any: []string{"Priority"}}, func(c netcode.Channel) error {
			c.Reliable = reliable
			netcode.NewConn(netcode.Config{Channels: []netcode.Channel{{Reliable: true}, c}})
			return nil
		})
	}
	fieldtest.Config[netcode.ClockConfig](t, fieldtest.Rules{}, func(c netcode.ClockConfig) error {
		netcode.NewClock(c)
		return c.Validate()
	})
	fieldtest.Config[netcode.CommandConfig](t, fieldtest.Rules{Off: []string{"Redundancy"}, Any: []string{"Fields"}}, func(c netcode.CommandConfig) error {
		s := netcode.NewCommandSender(4, c)
		s.Push(netcode.Command{Tick: 1})
		s.Append(nil, 100)
		return c.Validate()
	})
	fieldtest.Config[netcode.ClientConfig](t, fieldtest.Rules{Any: []string{"SnapshotRate", "Bytes"}}, func(c netcode.ClientConfig) error {
		_, err := netcode.ParseClientConfig(c.Append(nil))
		return err
	})
}

// TestCommandsWithoutRedundancy: with redundancy off no bytes are added, and each
// command is still sent once.
func TestCommandsWithoutRedundancy(t *testing.T) {
	for _, c := range []struct {
		cfg  netcode.CommandConfig
		want []int // commands in each packet
	}{
		{netcode.CommandConfig{}, []int{1, 2, 3, 3, 3}},
		{netcode.CommandConfig{Redundancy: -1}, []int{1, 1, 1, 1, 1}},
		{netcode.CommandConfig{Redundancy: -1, Late: 4}, []int{1, 2, 1, 4, 1}},
	} {
		s := netcode.NewCommandSender(1, c.cfg)
		for i, want := range c.want {
			s.Push(netcode.Command{Tick: netcode.Tick(i + 1), Data: []byte{byte(i + 1)}})
			got := 0
			if body := s.Append(nil, 400); len(body) > 0 {
				got = int(body[0]>>1&3) + 1
			}
			if got != want {
				t.Errorf("%+v: packet %d has %d commands, not %d", c.cfg, i, got, want)
			}
		}
	}
}
