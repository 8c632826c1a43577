// Package prediction lets a local player act at once and be corrected later.
//
// A client runs ahead of the server: it applies its own input the moment it is
// made, and keeps what it predicted for the last ticks. When the server's word
// on tick N arrives, the [Predictor] compares it with what was predicted for N.
// Where they agree nothing happens. Where they differ the world goes back to N,
// takes the server's values, and the inputs since then are played again.
//
// The package knows no entity system, no wire and no clock. A caller supplies
// two small interfaces: a [World] that can save, load and step its predicted
// state, and an [Authority] that compares and adopts what the server said.
//
// Beside the predictor stand the parts that every client of this kind needs:
// a [History] by tick, a [Fade] that hides corrections from the eye and never
// touches the simulation, and [Misprediction], the record of why a prediction
// was wrong.
//
// Nothing here is safe for concurrent use; give each predicted world its own.
package prediction
