// Package web is the page of package inspect, as an [http.Handler] for a game's own mux:
//
//	mux.Handle("/inspect/", web.Server(srv, web.Config{}))
//
// The path ends with a slash, and may be any. The page draws its charts itself and loads
// nothing from elsewhere. Everything that it shows is a JSON endpoint under the same path:
// ends.json, series.json, samples.json, events.json, logs.json, players.json, entities.json,
// values.json, sight.json, sights.json, prefabs.json, systems.json, trace.json, and the
// server-sent events of stream. graph.dot, export.jsonl, chrome.json and trace.export are files.
//
// A request for trace.json arms the trace of a player for 30 seconds, as the page's tab
// Trace does four times a second, and a client's page every five seconds: see package
// inspect/trace. Its query is player=N on a server, up to eight entity=ID, and after=TICK for
// later ticks alone. trace.export has what was recorded, for flight.Replay.Beside: it compares
// a client with the tape of its server, also where the server allowed no trace. The tab opens
// what that writes.
//
// # Who may look
//
// A server's page shows everything that the server knows, also what players hide from one
// another. So without [Config].Authorize only who has the key may look, from wherever: 128
// random bits of this process, which its log and [Handler.URL] have. The first request brings
// the key in its query, as ?key=…, and gets a cookie for it; the address that stays in the
// browser has none. With Authorize, that alone decides. In both cases pages of other origins
// are refused, and edits need [Config].AllowEdit, the method POST, an Origin of the same host,
// and the token that ends.json has.
//
// # What it costs
//
// Nothing while no page is open. Then see package inspect. Requests have bounds: so many at a
// time, so many a second, so many bytes. A stream whose reader is slow is closed. No tick
// waits for a browser.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package web
