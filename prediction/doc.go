// Package prediction lets a local player act at once and be corrected later.
//
// A client runs ahead of the server: it applies its own input immediately, and
// keeps its predictions for the last ticks. When the server's state of tick N
// arrives, the [Predictor] compares it with the prediction for N. If they
// agree, nothing happens. If they differ, the world rolls back to N, adopts the
// server's values, and replays the inputs since then.
//
// The package knows no entity system, no wire format and no clock. A caller
// supplies two small interfaces: a [World] that can save, load and step its
// predicted state, and an [Authority] that compares and adopts the server's
// state.
//
// The package also has the parts that every such client needs. A [History]
// stores values by tick. A [Fade] hides corrections from the eye and never
// touches the simulation. A [Misprediction] records why a prediction was wrong.
//
// Nothing here is safe for concurrent use; give each predicted world its own.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package prediction
