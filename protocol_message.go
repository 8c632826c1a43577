package foretick

import (
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

// OnClient declares a message and its handler. Both ends call it as part of the protocol.
// fn runs on clients only: within Step, outside of any tick. tick is the server's tick when
// it sent the message. A program that is only a server may pass a nil fn. NewClient returns
// an error for a nil fn.
func (m *Message[T]) OnClient(p *Protocol, fn func(f *Frame, tick Tick, v T)) {
	if m == nil {
		p.faultf("OnClient is called on a nil Message of %s: use a field of the game, as in g.Kill.OnClient", typeNameOf[T]())
		return
	}
	if p.late("OnClient of message " + typeNameOf[T]()) {
		return
	}
	if m.id != 0 {
		p.faultf("message %s is declared twice, or with another Protocol before: declare it once, and build a new game value for each Protocol", typeNameOf[T]())
		return
	}
	t := reflect.TypeFor[T]()
	s, err := schema.Compile(t, schema.Options{Name: typeName(t), Ref: entityType})
	if err == nil {
		err = referless("message", s)
	}
	if err != nil {
		p.fault(err)
		return
	}
	if len(p.compiled.Messages) == standard.MaxMessages {
		p.faultf("message %s is one too many: a protocol has at most %d", typeNameOf[T](), standard.MaxMessages)
		return
	}
	if !p.countFields("message", s) {
		return
	}
	channel := p.messageChannel(s, m.Channel)
	if channel < 0 {
		return
	}
	m.schema, m.channel = s, channel
	p.label(s.Name(), t)
	if fn == nil {
		p.deaf = append(p.deaf, s.Name())
	}
	p.compiled.Messages = append(p.compiled.Messages, layout.Message{Name: typeName(t), Schema: s, Channel: m.channel, Own: len(p.compiled.Messages)})
	p.compiled.handlers.messages = append(p.compiled.handlers.messages, func(s *schema.Schema, f *Frame, tick Tick, payload []byte) error {
		var v T
		if err := s.Unpack(payload, unsafe.Pointer(&v)); err != nil {
			return err
		}
		f.client.decoded()
		fn(f, tick, v)
		return nil
	})
	m.id = len(p.compiled.Messages)
}

// countFields limits the total number of fields in all messages and requests.
func (p *Protocol) countFields(what string, s *schema.Schema) bool {
	if p.messageFields += s.NumFields(); p.messageFields > standard.MaxMessageFields {
		p.faultf("%s %s brings the fields of all messages and requests to %d, each element of a slice counted: at most %d; use shorter slices, or a reference to what is known already", what, s.Name(), p.messageFields, standard.MaxMessageFields)
		return false
	}
	return true
}

// messageChannel returns the channel of a message. It returns −1 and notes a fault if the
// message cannot use that channel.
func (p *Protocol) messageChannel(s *schema.Schema, name string) int {
	channel, reliable := standard.ChannelMain, true
	if name != "" {
		if channel = p.compiled.ChannelNamed(name); channel < 0 {
			p.faultf("message %s goes by channel %q, which is not declared: call Channel first", s.Name(), name)
			return -1
		}
		reliable = p.compiled.Channels[channel-standard.GameChannels].Reliable
	}
	if most := netcode.MaxEvent; !reliable && s.PackedSize() > most {
		p.faultf("message %s has %d bytes: channel %q is not reliable and carries at most %d", s.Name(), s.PackedSize(), name, most)
		return -1
	}
	return channel
}
