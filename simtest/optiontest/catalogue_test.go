package optiontest

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
)

// option is one setting. What has neither setter is declared by the game.
type option struct {
	always bool     // each match has it
	needs  []string // what it means nothing without
	server func(*foretick.ServerConfig)
	client func(*foretick.ClientConfig)
}

func server(set func(*foretick.ServerConfig), needs ...string) option {
	return option{server: set, needs: needs}
}

func client(set func(*foretick.ClientConfig), needs ...string) option {
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
	"ServerConfig.Protocol":   {always: true},
	"ServerConfig.Transport":  {always: true},
	"ServerConfig.Recorder":   {always: true},
	"ServerConfig.MaxClients": server(func(c *foretick.ServerConfig) { c.MaxClients = 9 }),
	"ServerConfig.Observe": server(func(c *foretick.ServerConfig) {
		c.Observe = func(foretick.Observer) (foretick.Grant, error) { return foretick.Grant{}, nil }
	}),
	"ServerConfig.MaxObservers":         server(func(c *foretick.ServerConfig) { c.MaxObservers = 2 }, "ServerConfig.Observe"),
	"ServerConfig.SnapshotRate":         server(func(c *foretick.ServerConfig) { c.SnapshotRate = 15 }),
	"ServerConfig.SendRate":             server(func(c *foretick.ServerConfig) { c.SendRate = 24_000 }),
	"ServerConfig.Timeout":              server(func(c *foretick.ServerConfig) { c.Timeout = 4 * time.Second }),
	"ServerConfig.RepeatInput":          server(func(c *foretick.ServerConfig) { c.RepeatInput = 100 * ms }),
	"ServerConfig.DecayInput":           server(func(c *foretick.ServerConfig) { c.DecayInput = 100 * ms }),
	"ServerConfig.LateInputs":           server(func(c *foretick.ServerConfig) { c.LateInputs = 150 * ms }),
	"ServerConfig.LateWorld":            server(func(c *foretick.ServerConfig) { c.LateInputs, c.LateWorld = 150*ms, true }),
	"ServerConfig.LateShare":            server(func(c *foretick.ServerConfig) { c.LateShare = 0.05 }),
	"ServerConfig.MaxRewind":            server(func(c *foretick.ServerConfig) { c.MaxRewind = 300 * ms }),
	"ServerConfig.RewindGrowth":         server(func(c *foretick.ServerConfig) { c.RewindGrowth = 50 * ms }),
	"ServerConfig.NoLagCompensation":    server(func(c *foretick.ServerConfig) { c.NoLagCompensation = true }),
	"ServerConfig.ReconnectWindow":      server(func(c *foretick.ServerConfig) { c.ReconnectWindow = 10 * time.Second }),
	"ServerConfig.Same":                 server(func(c *foretick.ServerConfig) { c.Same = transport.AllowBoth }),
	"ServerConfig.KeepPlaces":           server(func(c *foretick.ServerConfig) { c.KeepPlaces = true }),
	"ServerConfig.MaxHeldPerAddress":    server(func(c *foretick.ServerConfig) { c.MaxHeldPerAddress = -1 }),
	"ServerConfig.MaxWaitingPerAddress": server(func(c *foretick.ServerConfig) { c.MaxWaitingPerAddress = -1 }),
	"ServerConfig.AllowOtherBuilds":     server(func(c *foretick.ServerConfig) { c.AllowOtherBuilds = true }),
	"ServerConfig.Random":               server(func(c *foretick.ServerConfig) { c.Random = source() }),
	"ServerConfig.TrainCompression":     server(func(c *foretick.ServerConfig) { c.TrainCompression = &snapshot.Statistics{} }),
	"ServerConfig.Verify":               server(func(c *foretick.ServerConfig) { c.Verify = present }),
	"ServerConfig.Profile":              server(func(c *foretick.ServerConfig) { c.Profile = true }),
	"ServerConfig.Tags":                 server(func(c *foretick.ServerConfig) { c.Tags = []string{"battle"} }, "ecs.Tags"),
	"ServerConfig.Executor":             server(func(c *foretick.ServerConfig) { c.Executor = inline{} }),
	"ServerConfig.Logger":               server(func(c *foretick.ServerConfig) { c.Logger = quiet() }),
	"ServerConfig.OnPanic":              server(func(c *foretick.ServerConfig) { c.OnPanic = func(foretick.Panic) {} }),
	"ServerConfig.Clock": server(func(c *foretick.ServerConfig) {
		at := time.Duration(0)
		c.Clock = func() time.Duration { at += ms; return at }
	}),
	"ServerConfig.AllowTrace": server(func(c *foretick.ServerConfig) { c.AllowTrace = func(foretick.PlayerID) bool { return true } }),
	"ServerConfig.OnDrain":    server(func(c *foretick.ServerConfig) { c.OnDrain = func(*foretick.Frame, string) {} }),
	"ServerConfig.OnTick":     server(func(c *foretick.ServerConfig) { c.OnTick = func(*foretick.Frame) {} }),

	"ClientConfig.Protocol":        {always: true},
	"ClientConfig.Transport":       {always: true},
	"ClientConfig.Sample":          {always: true},
	"ClientConfig.Redial":          client(func(*foretick.ClientConfig) {}), // the match dials
	"ClientConfig.ResumeToken":     client(func(*foretick.ClientConfig) {}), // a client comes back with it
	"ClientConfig.OnSession":       client(func(c *foretick.ClientConfig) { c.OnSession = func(foretick.Session) {} }),
	"ClientConfig.ReceiveRate":     client(func(c *foretick.ClientConfig) { c.ReceiveRate = 24_000 }),
	"ClientConfig.Verify":          client(func(c *foretick.ClientConfig) { c.Verify = present }),
	"ClientConfig.SnapshotRate":    client(func(c *foretick.ClientConfig) { c.SnapshotRate = 20 }),
	"ClientConfig.Observe":         client(func(c *foretick.ClientConfig) { c.Observe = true }, "ServerConfig.Observe"),
	"ClientConfig.ObserveData":     client(func(c *foretick.ClientConfig) { c.ObserveData = []byte("me") }, "ClientConfig.Observe"),
	"ClientConfig.NoPrediction":    client(func(c *foretick.ClientConfig) { c.NoPrediction = true }),
	"ClientConfig.PartialTicks":    client(func(c *foretick.ClientConfig) { c.PartialTicks = true }, "ecs.Partial"),
	"ClientConfig.MaxRTT":          client(func(c *foretick.ClientConfig) { c.MaxRTT = 600 * ms }),
	"ClientConfig.History":         client(func(c *foretick.ClientConfig) { c.History = 128 }),
	"ClientConfig.InputDelay":      client(func(c *foretick.ClientConfig) { c.InputDelay = 60 * ms }),
	"ClientConfig.DelayAbove":      client(func(c *foretick.ClientConfig) { c.DelayAbove = 120 * ms }),
	"ClientConfig.LateShare":       client(func(c *foretick.ClientConfig) { c.LateShare = 0.05 }),
	"ClientConfig.SmoothHalfLife":  client(func(c *foretick.ClientConfig) { c.SmoothHalfLife = 80 * ms }),
	"ClientConfig.SmoothLimit":     client(func(c *foretick.ClientConfig) { c.SmoothLimit = 1 }),
	"ClientConfig.Timeout":         client(func(c *foretick.ClientConfig) { c.Timeout = 4 * time.Second }),
	"ClientConfig.SendRate":        client(func(c *foretick.ClientConfig) { c.SendRate = 24_000 }),
	"ClientConfig.Tags":            client(func(c *foretick.ClientConfig) { c.Tags = []string{"paths"} }, "ecs.Tags"),
	"ClientConfig.OnRefused":       client(func(c *foretick.ClientConfig) { c.OnRefused = func(foretick.Tick, string) {} }, "foretick.CheckCommand"),
	"ClientConfig.OnSnapshot":      client(func(c *foretick.ClientConfig) { c.OnSnapshot = func(foretick.Tick) {} }),
	"ClientConfig.OnMisprediction": client(func(c *foretick.ClientConfig) { c.OnMisprediction = func(prediction.Misprediction) {} }),
	"ClientConfig.Logger":          client(func(c *foretick.ClientConfig) { c.Logger = quiet() }),
	"ClientConfig.Random":          client(func(*foretick.ClientConfig) {}), // each client has its own

	"Protocol.Component": {always: true}, "Protocol.Command": {always: true}, "Protocol.Prefab": {always: true},
	"Protocol.Shared": {always: true}, "Protocol.Server": {always: true}, "Protocol.OnJoin": {always: true},

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
	"foretick.Hitbox": declared(), "foretick.Hitbox2": declared(), "foretick.Hitboxes": declared(),
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

	// What a declaration may hold, beside what has a name in the API.
	"use predicted tags": declared(), "use predicted text": declared(), "use a shared singleton": declared(),
	"use a shared clock": declared(),
	"use long values":    declared(), "use infinities": declared(), "use a tag alone": declared(),
	"use a tag of the match": declared("ServerConfig.Tags"),
}
