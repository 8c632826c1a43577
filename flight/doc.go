// Package flight records matches and replays them: a bug of production becomes a test.
//
// A [Recorder] writes a tape of everything that a server depends on from outside. Set it in
// the server's configuration:
//
//	rec, err := flight.New(flight.Config{Name: "match 7", Dir: "tapes"})
//	srv, err := server.New(server.Config{Protocol: p, Transport: end, Recorder: rec})
//
// After a panic in a system the tape is written into a file before the panic continues. On a
// host the other matches do not wait for this. A panic in a handler and a desync that a sync
// test finds write the file too, while the match continues, and so does [Recorder.Save]. A
// match that ends well leaves no file.
//
// A process that is killed, or ends with a fatal error, writes nothing. With [Config].Durable a
// [Folder] writes each match once a second while it runs, and removes its file when it ends well.
// A file that a killed process left replays up to its end.
//
// # Replay
//
// [Play] plays a tape through the game's own code and compares the world's hash of each tick.
// [Replay] does so tick by tick, with the server to look into, and [Replay.Trace] has the
// values of an entity before and after each system:
//
//	tape, err := flight.Open("tapes/match_7-20261123T120000.tape")
//	r, err := flight.NewReplay(tape, flight.Game{New: newMatch})
//	err = r.RunTo(tape.Info().Panic.Tick - 1)
//	trace, err := r.Trace(r.Entities()[0].Entity)
//
// [Command] does the same as a program, for which a game passes its Game. Game.New makes the
// match's server, with the systems and first entities of the recorded match. The replay gives
// it the recorded server.Config, with the tape in place of the transport.
//
// The same tape gives the same ticks if the game's code is the same, and gets everything from
// outside through the server. So a game needs
//
//   - random numbers from [foretick.Frame].Rand, and other values through [server.Server].Record;
//   - no package-level state that lives longer than a match;
//   - no changes of the world between Steps. Functions of [server.Server].Do run in the
//     right tick, but the tape does not hold what they did to the world: give Game.Call the
//     function, or use [Edit]. The calls that such a function makes of the server, such as
//     ServerFrame.Kick, are on the tape.
//
// At the first tick that differs, a [DifferenceError] names the reason. Play finds out
// whether two replays differ from one another, and after which system.
//
// # What is on a tape
//
// A tape holds each Step's time, every event of the transport, its information about peers,
// datagrams that it refused, the bytes of randomness, Server.Record's values, the results of
// server.Config.Observe and AllowTrace, calls from outside (kicks, bans, levels, drain, close
// and the like), edits, requests for traces by the server's own program, and a hash of the
// world and of the sent packets each tick. That is about 1 kB a second for each player, or two
// thirds of that compressed. A tape holds the players' tokens, addresses and chat, so files have
// the mode 0600.
//
// # The format
//
// A tape begins with the 8 bytes FORETAPE and a byte for the version, 1. Blocks follow to the
// end. Numbers of fixed size are little-endian.
//
//	u32  length of the packed records, at most 262 144
//	u32  their length unpacked, at most 262 144
//	u32  CRC-32 (IEEE) of the packed records
//	     the records, packed with DEFLATE
//
// A record never crosses blocks. It is a byte for its kind, a uvarint for the length of the
// content, at most 98 304, and the content. Readers skip kinds that they do not know. Below,
// uv and sv are Go's unsigned and zigzag varints, text is a uv length and then the bytes,
// rest is what remains, peer is uv slot and uv generation, and time is sv Unix seconds and uv
// nanoseconds.
//
//	 1 head          pairs of text, a name and a value: name, game, protocol, build, go, os, arch,
//	                 debug, describe, and config.X for the field X of server.Config
//	 2 start         time of the first Step
//	 3 step          sv nanoseconds since the previous Step, 0 for the first
//	 4 connected     peer
//	 5 data          peer, rest is the datagram
//	 6 disconnected  peer, uv code, rest is the detail
//	 7 info          u8 flags (1 known, 2 secure, 4 ordered, 8 has an identity), peer; if
//	                 known: sv MTU, text address, rest is the identity
//	 8 send error    uv which Send of the Step, from 1; u8 (1 backlog, 2 no peer, 3 closed,
//	                 4 too big, 0 other)
//	 9 random        u8 1 if the source failed, rest is what it gave
//	10 tick          uv ticks since the previous one, u64 hash of the world, u32 sum of the
//	                 packets since the previous tick
//	11 value         u8 1 in a Step, 0 between Steps, rest is the value
//	12 call          u8 method (internal/tape has the numbers), u8 flags (1 has a time until,
//	                 2 on or built, 4 made by a function of Do), uv player, uv code,
//	                 sv duration, uv number of the function in its tick, time if flagged,
//	                 text, rest is data
//	13 do            rest is the name of a function of Server.Do; its tick follows
//	14 edit          text name, uv entity, text path, u8 kind (0 bool, 1 int, 2 uint, 3 float,
//	                 4 text), then u8, sv, uv, u64 of the bits, or rest
//	15 grant         u8 flags (1 everything, 2 follow only, 4 refused), u8 team, uv player,
//	                 rest says why
//	16 panic         uv tick, text value, rest is the stack
//	17 report        rest is the reason
//	18 opaque        rest says what the tape does not hold
//	19 touched       the program took Server.World or Server.Frame between Steps
//	20 closed        the server was closed
//	21 truncated     the recorder had no more room
//	22 pause         the tape was written here, between Steps
//	23 look          uv player, u8 flags (1 looked at, 2 the entities are new, 4 no more,
//	                 8 corrections are asked for), uv entities to the end, at most 8: a request
//	                 of the server's own program for a player's trace; its tick follows
//	24 waited data   peer, uv nanoseconds that it waited before its Step, rest is the datagram
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package flight
