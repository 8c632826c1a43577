// Package snapshot sends the state of a world to many viewers, each tick, in few bytes.
//
// The package can be used alone: it does not depend on how entities are stored or packets sent. A program
// describes its components with struct tags. It lists them and its prefabs in a [schema.Registry], which both
// ends build alike (package schema). The server then runs this in each tick. It sends each packet, and calls
// [Sender.Delivered] or [Sender.Lost] once it knows what became of the packet:
//
//	source.Begin(tick)
//	for _, e := range entities {
//		source.Put(e.id, e.prefab, e.owner, e.mask, e.pointers, e.refs)
//	}
//	source.End()
//	for _, c := range clients {
//		c.packet = c.sender.Append(c.packet[:0], room, &c.sent)
//	}
//
// A client reads each packet:
//
//	tick, err := receiver.Read(packet)
//	for _, c := range receiver.Changes() { … }
//
// and draws each entity in each frame, component by component:
//
//	a, b, f, ok := ghost.Sample(tick, fraction)
//	knots := schema.Between(schema.Keyframe{}, a.Keyframe(comp), b.Keyframe(comp), f, 0)
//	compiled.Interpolate(a.Audience, knots, schema.GridPublic, nil, dst) // as each field's tag says
//
// # What a viewer learns
//
// A viewer receives an entity if it changed after the newest tick that the viewer is known to have received.
// Values are never compared to decide this. An entity left out of a snapshot is unchanged; one that changed and
// did not fit is listed as postponed.
//
// Wire ids belong to one viewer. They are assigned when an entity is first shown, in the order of network ids.
// So entities that a viewer may not see do not affect its packets. Fields for the owner are removed before
// flags and values are coded for others.
//
// The caller decides which entities a viewer may see ([Sender.SetVisible], [SenderConfig].Visible). An [Area]
// finds the entities that are near enough to a viewer.
//
// [Source.SetGroup] makes a group of entities that are sent together or not at all. The viewer's own entities
// are such a group, and [Sender.AppendBudget] may exceed its budget for them.
//
// [Source.Teleport] marks an entity that jumps to another place. The mark is sent with its values, and
// [Ghost.Sample] holds the old value until the new one.
//
// A record that is longer than a packet is pinned at a tick and sent in pieces, each until it is delivered. The
// entity appears, or changes, once all are there. Until then it is listed as postponed. A record longer than
// [MaxRecord] is not sent: see [Sender.TakeTooLong].
//
// # Codes
//
// A record is the difference from up to three values that the viewer is known to hold, and needs nothing else.
// So a packet loss costs one snapshot, and the server keeps no state for a viewer except its acknowledgements.
//
// The prediction of a value, and of its error, is learned. For each expected error, weights extrapolate the
// motion and a Huffman code holds the actual error. Flags use a range coder with static probabilities; one of
// them says whether a difference is 0. [Statistics] learns all of these from a match for
// [schema.Registry.UseTables]; examples/cubes shows it.
//
// Since records depend on nothing else, senders may share them through a [Cache]. The format is specified in
// docs/STANDARD-snapshot.md.
//
// # Concurrency
//
// A [Source] and its senders belong to one goroutine, with one exception. Between [Source.End] and the next
// [Source.Begin], [Sender.Append] of different senders may run at the same time. A [Receiver] and its ghosts
// belong to one goroutine. A [schema.Schema] never changes and can be shared, unless [schema.Schema.Bind]
// returned it.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package snapshot
