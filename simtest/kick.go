package simtest

import (
	"errors"
	"fmt"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/transport"
)

// kick makes the server kick a random player. The player's client receives the reason, or
// gives up after its timeout if the packets with the reason are lost.
func (d *director) kick() {
	st, s := d.anyone(), d.m.Server()
	if st == nil || s == nil || d.m.frozen || !d.m.present(st) || d.kicked[st.client] {
		return
	}
	if s.Frame().Kick(st.client.View().Player, transport.Kicked, "the plan says so") {
		d.kicked[st.client] = true
		d.out.Kicks++
	}
}

// shownOut replaces a client that was kicked.
func (d *director) shownOut(c *client.Client, v client.View) {
	var end *transport.DisconnectError
	if errors.As(v.Err, &end) && end.Code != transport.Kicked && end.Code != transport.Timeout {
		d.recordError(fmt.Errorf("simtest: player %d was kicked, and its client ended with %w", v.Player, v.Err))
	}
	d.addDeparted(c)
	if d.resting || d.m.restless {
		d.m.Net.At(d.m.Net.Now(), d.addClient)
	} else {
		d.later(d.plan.Absence, d.addClient)
	}
}
