package observe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
)

// Labels that cannot be read are counted and dropped. The observer continues without them.
func TestMalformedLabelsAreDropped(t *testing.T) {
	o := &Observer{}
	for _, bad := range [][]byte{nil, {9}, {1, 0xff, 0xff, 0xff, 0x7f}, {1, 1, 1, 'a', 0, 0, 0}, {1, 0, 0}} {
		before := o.malformed
		o.label(netcode.SchemaReply{Known: true, Name: netcode.LabelSchema, Data: bad})
		require.Equal(t, before+1, o.malformed)
		require.Nil(t, o.Labels())
		require.NoError(t, o.err)
	}
	o.label(netcode.SchemaReply{Name: netcode.LabelSchema})
	require.Equal(t, uint64(5), o.malformed, "a game without labels is no fault")
	good := schema.Labels{"Body.Speed": {Unit: "m/s"}}
	o.label(netcode.SchemaReply{Known: true, Name: netcode.LabelSchema, Data: good.Append(nil)})
	require.Equal(t, good, o.Labels())
	o.label(netcode.SchemaReply{Known: true, Name: netcode.LabelSchema, Data: schema.Labels{}.Append(nil)})
	require.Equal(t, uint64(6), o.malformed)
	require.Equal(t, good, o.Labels())
}
