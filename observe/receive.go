package observe

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

var (
	errLevels  = errors.New("observe: two levels in a packet") // a server writes one, and each new level costs time
	errTags    = errors.New("observe: a Welcome with tags that the schema does not have")
	errUnknown = fmt.Errorf("%w: the server does not have one", schema.ErrMalformed)
)

// guard ends the connection if reading a packet panicked, which should never happen. A debug
// build panics again. It must be deferred directly.
func (o *Observer) guard(packet []byte) {
	if !o.decoding || debugBuild {
		return
	}
	if v := recover(); v != nil {
		o.malformed++
		guard.LogPanic(o.cfg.Logger, v, packet)
		o.failWith(&transport.DisconnectError{Code: transport.Malformed, Reason: guard.Unreadable})
	}
}

func (o *Observer) receivePacket(b []byte) {
	o.decoding, o.levelled = true, false
	defer o.guard(b)
	if o.conn.Receive(o.now, b) != nil {
		o.malformed++
		return
	}
	for _, ok := o.conn.NextFate(); ok; _, ok = o.conn.NextFate() {
		continue
	}
	for m, ok := o.conn.NextMessage(); ok; m, ok = o.conn.NextMessage() {
		if o.receiveMessage(m) != nil {
			o.malformed++
			if m.Type == netcode.MessageSnapshot {
				o.conn.Refuse() // a snapshot that was not read must not become a baseline
			}
		}
	}
	for r, ok := o.conn.NextReliable(); ok; r, ok = o.conn.NextReliable() {
		if r.Channel == standard.ChannelSchemas {
			o.reply(r)
			continue
		}
		o.receiveTold(r.Channel, r.Kind, r.Tick, r.Payload)
	}
	for e, ok := o.conn.NextEvent(); ok; e, ok = o.conn.NextEvent() {
		o.receiveTold(e.Channel, e.Kind, e.Tick, e.Payload)
	}
}

// reply reads the server's reply with the schema or with the labels.
func (o *Observer) reply(r netcode.Reliable) {
	reply, err := netcode.ParseSchemaReply(r.Payload)
	if err == nil && r.Kind == netcode.KindSchemaReply && o.called && reply.Name == netcode.LabelSchema {
		o.label(reply)
		return
	}
	if r.Kind != netcode.KindSchemaReply || err != nil || o.schema != nil {
		o.malformed++
		return
	}
	if !reply.Known {
		o.failWith(errUnknown)
		return
	}
	s, err := schema.ReadProtocol(reply.Data)
	if err == nil && !o.cfg.SchemaOnly {
		var more []netcode.Channel
		for _, c := range s.Channels {
			more = append(more, netcode.Channel{Reliable: c.Reliable, Priority: c.Priority})
		}
		err = o.conn.AddChannels(more...)
	}
	if err != nil {
		o.failWith(err)
		return
	}
	o.schema, o.raw = s, bytes.Clone(reply.Data)
}

// label stores the labels. A tool works without them, so malformed labels are dropped.
func (o *Observer) label(reply netcode.SchemaReply) {
	if !reply.Known {
		return // the game has none
	}
	labels, err := schema.ReadLabels(reply.Data)
	if err != nil || o.labels != nil {
		o.malformed++
		return
	}
	o.labels = labels
}

func (o *Observer) receiveMessage(m netcode.Message) error {
	if o.schema == nil || o.cfg.SchemaOnly {
		return nil
	}
	if m.Type == netcode.MessageSnapshot && o.recv == nil {
		o.conn.Refuse()
		return nil
	}
	switch m.Type {
	case netcode.MessageWelcome:
		w, err := netcode.ParseWelcome(m.Body)
		if err == nil && w.Tags>>len(o.schema.Tags) != 0 {
			err = errTags
		}
		if err != nil {
			return err
		}
		if !o.in {
			o.in, o.of = true, w.Owner
			o.every = time.Duration(w.SnapshotInterval) * time.Second / time.Duration(w.TickRate)
			o.enterEpoch(w.Epoch)
		}
	case netcode.MessageReject:
		r, err := netcode.ParseReject(m.Body)
		if err != nil {
			return err
		}
		o.failWith(&transport.DisconnectError{Code: transport.Refused, Reason: r.Text})
	case netcode.MessageLevel:
		l, err := netcode.ParseLevelInfo(m.Body)
		if err != nil {
			return err
		}
		if o.levelled {
			return errLevels
		}
		o.levelled = true
		if o.recv != nil && netcode.Newer(l.Epoch, o.epoch) {
			o.enterEpoch(l.Epoch)
		}
	case netcode.MessageSnapshot:
		h, rest, err := netcode.ParseSnapshotHeader(m.Body)
		if err != nil {
			return err
		}
		switch {
		case h.Epoch == o.epoch:
			_, err = o.recv.Read(rest)
			o.unread.noteRead(o.recv, err, o.now)
		case !netcode.Newer(o.epoch, h.Epoch):
			o.conn.Refuse()
		}
		return err
	}
	return nil
}

func (o *Observer) enterEpoch(epoch uint8) {
	o.epoch = epoch
	cfg := snapshot.ReceiverConfig{Viewer: o.of, Owners: standard.MaxPlayers}
	if o.recv != nil {
		cfg.After, _ = o.recv.Newest()
	}
	o.recv = snapshot.NewReceiver(o.schema.Registry, cfg)
}

func (o *Observer) receiveTold(channel, kind uint8, tick Tick, payload []byte) {
	if o.schema == nil || int(kind) >= len(o.schema.Messages) || o.schema.Messages[kind].Channel != int(channel) {
		o.malformed++
		return
	}
	m := o.schema.Messages[kind]
	values, err := m.Schema.UnpackValues(payload, nil)
	if err != nil {
		o.malformed++
		return
	}
	if o.cfg.OnMessage != nil {
		o.decoding = false
		o.cfg.OnMessage(m, tick, values)
		o.decoding = true
	}
}
