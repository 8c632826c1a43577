package optiontest

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// option is one setting. The game declares options that have no setter for a configuration.
type option struct {
	always bool     // every match has the option
	needs  []string // options without which this one has no effect
	server func(*server.Config)
	client func(*client.Config)
}

func ofServer(set func(*server.Config), needs ...string) option {
	return option{server: set, needs: needs}
}

func ofClient(set func(*client.Config), needs ...string) option {
	return option{client: set, needs: needs}
}

func declared(needs ...string) option { return option{needs: needs} }

const ms = time.Millisecond

// inline is an Executor.
type inline struct{}

func (inline) Run(n int, task func(int)) {
	for i := range n {
		task(n - 1 - i)
	}
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func source() io.Reader { return rand.NewChaCha8([32]byte{7}) }

func present(string) error { return nil }

// catalogue has the options by name.
var catalogue = map[string]option{
	"server.Config.Protocol":   {always: true},
	"server.Config.Transport":  {always: true},
	"server.Config.Recorder":   {always: true},
	"server.Config.MaxClients": ofServer(func(c *server.Config) { c.MaxClients = 9 }),
	"server.Config.Observe": ofServer(func(c *server.Config) {
		c.Observe = func(server.Observer) (server.Grant, error) { return server.Public(), nil }
	}),
	"server.Config.MaxObservers":         ofServer(func(c *server.Config) { c.MaxObservers = 2 }, "server.Config.Observe"),
	"server.Config.SnapshotRate":         ofServer(func(c *server.Config) { c.SnapshotRate = 15 }),
	"server.Config.SendRate":             ofServer(func(c *server.Config) { c.SendRate = 24_000 }),
	"server.Config.Timeout":              ofServer(func(c *server.Config) { c.Timeout = 4 * time.Second }),
	"server.Config.RepeatInput":          ofServer(func(c *server.Config) { c.RepeatInput = 100 * ms }),
	"server.Config.DecayInput":           ofServer(func(c *server.Config) { c.DecayInput = 100 * ms }),
	"server.Config.Late.Window":          ofServer(func(c *server.Config) { c.Late.Window = 150 * ms }),
	"server.Config.Late.World":           ofServer(func(c *server.Config) { c.Late.Window, c.Late.World = 150*ms, true }),
	"server.Config.Late.Share":           ofServer(func(c *server.Config) { c.Late.Share = 0.05 }),
	"server.Config.MaxRewind":            ofServer(func(c *server.Config) { c.MaxRewind = 300 * ms }),
	"server.Config.RewindGrowth":         ofServer(func(c *server.Config) { c.RewindGrowth = 50 * ms }),
	"server.Config.NoLagCompensation":    ofServer(func(c *server.Config) { c.NoLagCompensation = true }),
	"server.Config.ReconnectWindow":      ofServer(func(c *server.Config) { c.ReconnectWindow = 10 * time.Second }),
	"server.Config.Same":                 ofServer(func(c *server.Config) { c.Same = transport.AllowBoth }),
	"server.Config.KeepPlaces":           ofServer(func(c *server.Config) { c.KeepPlaces = true }),
	"server.Config.MaxHeldPerAddress":    ofServer(func(c *server.Config) { c.MaxHeldPerAddress = -1 }),
	"server.Config.MaxWaitingPerAddress": ofServer(func(c *server.Config) { c.MaxWaitingPerAddress = -1 }),
	"server.Config.AllowOtherBuilds":     ofServer(func(c *server.Config) { c.AllowOtherBuilds = true }),
	"server.Config.Random":               ofServer(func(c *server.Config) { c.Random = source() }),
	"server.Config.TrainCompression":     ofServer(func(c *server.Config) { c.TrainCompression = &snapshot.Statistics{} }),
	"server.Config.Verify":               ofServer(func(c *server.Config) { c.Verify = present }),
	"server.Config.Profile":              ofServer(func(c *server.Config) { c.Profile = true }),
	"server.Config.Tags":                 ofServer(func(c *server.Config) { c.Tags = []string{"battle"} }, "ecs.Tags"),
	"server.Config.Executor":             ofServer(func(c *server.Config) { c.Executor = inline{} }),
	"server.Config.Logger":               ofServer(func(c *server.Config) { c.Logger = quiet() }),
	"server.Config.OnPanic":              ofServer(func(c *server.Config) { c.OnPanic = func(server.Panic) {} }),
	"server.Config.Clock": ofServer(func(c *server.Config) {
		at := time.Duration(0)
		c.Clock = func() time.Duration { at += ms; return at }
	}),
	"server.Config.AllowTrace": ofServer(func(c *server.Config) { c.AllowTrace = func(foretick.PlayerID) bool { return true } }),
	"server.Config.OnDrain":    ofServer(func(c *server.Config) { c.OnDrain = func(*foretick.ServerFrame, string) {} }),
	"server.Config.OnTick":     ofServer(func(c *server.Config) { c.OnTick = func(*foretick.ServerFrame) {} }),

	"client.Config.Protocol":        {always: true},
	"client.Config.Transport":       {always: true},
	"client.Config.Sample":          {always: true},
	"client.Config.Redial":          ofClient(func(*client.Config) {}), // the match sets it, to dial the server
	"client.Config.ResumeToken":     ofClient(func(*client.Config) {}), // a client that comes back uses it
	"client.Config.OnSession":       ofClient(func(c *client.Config) { c.OnSession = func(client.Session) {} }),
	"client.Config.ReceiveRate":     ofClient(func(c *client.Config) { c.ReceiveRate = 24_000 }),
	"client.Config.Verify":          ofClient(func(c *client.Config) { c.Verify = present }),
	"client.Config.SnapshotRate":    ofClient(func(c *client.Config) { c.SnapshotRate = 20 }),
	"client.Config.Observe":         ofClient(func(c *client.Config) { c.Observe = &client.Observe{} }, "server.Config.Observe"),
	"client.Config.NoPrediction":    ofClient(func(c *client.Config) { c.NoPrediction = true }),
	"client.Config.PartialTicks":    ofClient(func(c *client.Config) { c.PartialTicks = true }, "ecs.Partial"),
	"client.Config.MaxRTT":          ofClient(func(c *client.Config) { c.MaxRTT = 600 * ms }),
	"client.Config.History":         ofClient(func(c *client.Config) { c.History = 128 }),
	"client.Config.InputDelay":      ofClient(func(c *client.Config) { c.InputDelay = 60 * ms }),
	"client.Config.DelayAbove":      ofClient(func(c *client.Config) { c.DelayAbove = 120 * ms }),
	"client.Config.LateShare":       ofClient(func(c *client.Config) { c.LateShare = 0.05 }),
	"client.Config.SnapshotBuffer":  ofClient(func(c *client.Config) { c.SnapshotBuffer = 150 * ms }),
	"client.Config.SmoothHalfLife":  ofClient(func(c *client.Config) { c.SmoothHalfLife = 80 * ms }),
	"client.Config.SmoothLimit":     ofClient(func(c *client.Config) { c.SmoothLimit = 1 }),
	"client.Config.Timeout":         ofClient(func(c *client.Config) { c.Timeout = 4 * time.Second }),
	"client.Config.SendRate":        ofClient(func(c *client.Config) { c.SendRate = 24_000 }),
	"client.Config.Tags":            ofClient(func(c *client.Config) { c.Tags = []string{"paths"} }, "ecs.Tags"),
	"client.Config.OnRefused":       ofClient(func(c *client.Config) { c.OnRefused = func(foretick.Tick, string) {} }, "foretick.CheckCommand"),
	"client.Config.OnSnapshot":      ofClient(func(c *client.Config) { c.OnSnapshot = func(foretick.Tick) {} }),
	"client.Config.OnMisprediction": ofClient(func(c *client.Config) { c.OnMisprediction = func(prediction.Misprediction) {} }),
	"client.Config.Logger":          ofClient(func(c *client.Config) { c.Logger = quiet() }),
	"client.Config.Random":          ofClient(func(*client.Config) {}), // each client has its own

	"Protocol.Component": {always: true}, "Protocol.Command": {always: true}, "Protocol.Prefab": {always: true},
	"Protocol.Shared": {always: true}, "Protocol.Server": {always: true}, "Protocol.Query": {always: true}, "Protocol.OnJoin": {always: true},

	"ecs.Read": {always: true}, "ecs.Write": {always: true}, "foretick.Predicted": {always: true},
	"tag owner": {always: true}, "tag min": {always: true}, "tag max": {always: true}, "tag step": {always: true},
	"tag oneshot": {always: true}, "tag sum": {always: true}, "tag press": {always: true},

	"Protocol.Asset": declared(), "Protocol.ServerAsset": declared(), "Protocol.Audience": declared(),
	"Protocol.Channel": declared(), "Channel.Reliable": declared("Protocol.Channel"), "Channel.Priority": declared("Protocol.Channel"),
	"Channel.Queue": declared("Channel.Reliable"), "Channel.Repeat": declared("Protocol.Channel"), "Channel.MaxAge": declared("Protocol.Channel"),
	"Protocol.CompressionTables": declared(), "Protocol.Hierarchy": declared(), "Protocol.InOrder": declared(),
	"Protocol.Interpolated": declared(), "Protocol.LocalComponent": declared(), "Protocol.OnAppear": declared(),
	"Protocol.OnVanish": declared(), "Protocol.OnDisconnect": declared(), "Protocol.OnReconnect": declared(),
	"Protocol.OnLeave": declared(), "Protocol.OnLevel": declared(), "Protocol.Relevant": declared("foretick.Interest"),
	"Protocol.Render": declared(), "Protocol.SetTickRate": declared(), "Protocol.Shapes": declared(),
	"Protocol.Singleton": declared(), "Protocol.Spawns": declared(), "Protocol.Stages": declared(), "Protocol.Use": declared(),
	"SpawnConfig.ClientOnly": declared("Protocol.Spawns"), "SpawnConfig.OnPredicted": declared("Protocol.Spawns"),
	"SpawnConfig.OnConfirmed": declared("Protocol.Spawns"), "SpawnConfig.OnCancelled": declared("Protocol.Spawns"),
	"SpawnConfig.OnRestored": declared("Protocol.Spawns"),
	"foretick.CheckCommand":  declared(), "foretick.Decay": declared(), "foretick.Default": declared(),
	"foretick.Hitbox": declared(), "foretick.Hitboxes": declared(),
	"foretick.Interest": declared(), "AreaConfig.Enter": declared("foretick.Interest"), "AreaConfig.Leave": declared("foretick.Interest"),
	"AreaConfig.Cell": declared("foretick.Interest"), "foretick.Interpolate": declared(), "foretick.LifeID": declared(),
	"foretick.OfPrefab": declared("Protocol.OnAppear"), "foretick.PredictRemote": declared("foretick.FullPrecision"),
	"RemoteConfig.Also": declared("foretick.PredictRemote"), "RemoteConfig.Skip": declared("foretick.PredictRemote"),
	"foretick.TrackHistory": declared(), "foretick.For": declared("Protocol.Audience"), "foretick.FullPrecision": declared(),
	"Event.OnServer": declared(), "Event.OnFinal": declared(), "Event.OnPredicted": declared(),
	"Event.OnConfirmed": declared(), "Event.OnCancelled": declared(),
	"Message.OnClient": declared(), "Message.Channel": declared("Message.OnClient", "Protocol.Channel"), "Request.Handle": declared(),
	"ecs.After": declared(), "ecs.Before": declared(), "ecs.Create": declared("Protocol.Spawns"), "ecs.Once": declared(),
	"ecs.Optional": declared(), "ecs.OptionalWrite": declared(), "ecs.Partial": declared(), "ecs.ReadOther": declared(), "ecs.ReadOwn": declared(),
	"ecs.Render": declared(), "ecs.Stage": declared("Protocol.Stages"), "ecs.Structural": declared(), "ecs.Tags": declared(),
	"ecs.With": declared(), "ecs.Without": declared(), "ecs.WriteOther": declared(),
	"ecs.Copier": declared(), "ecs.Enum": declared(), "ecs.Meta": declared(), "ecs.Named": declared(), "ecs.Open": declared(),
	"tag sim": declared(), "tag angle": declared(), "tag bits": declared(), "tag quat": declared(), "tag vec": declared(),
	"tag allies": declared(), "tag enemies": declared(), "tag to": declared("Protocol.Audience"), "tag tol": declared(),
	"tag lerp": declared(), "tag slerp": declared("tag quat"), "tag hermite": declared(), "tag extrapolate": declared(), "tag snap": declared(),

	// Parts of declarations that have no name of their own in the API.
	"use predicted tags": declared(), "use predicted text": declared(), "use a shared singleton": declared(),
	"use a shared clock": declared(),
	"use long values":    declared(), "use infinities": declared(), "use a tag alone": declared(),
	"use a tag of the match": declared("server.Config.Tags"),
}
