package preview_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/preview"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

func TestPreviewFaults(t *testing.T) {
	g, h := &stageGame{}, &stageGame{}
	net := sim.NewNetwork(1)
	listen := net.Listen()
	for want, err := range map[string]error{
		"Transport":               second(preview.New(server.Config{Protocol: g.Protocol(), Transport: listen}, client.Config{})),
		"server.Config.Protocol":  second(preview.New(server.Config{}, client.Config{})),
		"two Protocols":           second(preview.New(server.Config{Protocol: new(stageGame).Protocol()}, client.Config{Protocol: h.Protocol()})),
		"client.Config.Observe":   second(preview.New(server.Config{Protocol: new(stageGame).Protocol()}, client.Config{Observe: &client.Observe{}})),
		"client.Config.Sample is": second(preview.New(server.Config{Protocol: new(stageGame).Protocol()}, client.Config{Sample: client.Sample(&h.input, func(client.View) stageInput { return stageInput{} })})),
	} {
		require.ErrorContains(t, err, want)
	}
}

// A client's missing asset is an error before a server is made, which would read from Config.Random.
func TestMissingAssetMakesNoServer(t *testing.T) {
	p := foretick.NewProtocol("bare", 1)
	body, place := new(ecs.Prefab), new(ecs.Component[struct{ X uint8 }])
	p.Component(place)
	p.Prefab(body, "body", place)
	p.Asset(body, "body.png")
	absent, drawn := errors.New("it is not there"), strings.NewReader("01234567")
	_, err := preview.New(server.Config{Protocol: p, Random: drawn}, client.Config{Verify: func(string) error { return absent }})
	require.ErrorIs(t, err, absent)
	require.Equal(t, 8, drawn.Len(), "nothing was made")
	_, err = preview.New(server.Config{Protocol: p, Random: drawn}, client.Config{})
	require.NoError(t, err)
	require.Zero(t, drawn.Len(), "a server draws its number")
}

func second[T any](_ T, err error) error { return err }
