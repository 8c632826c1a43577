package stats

// Loss is a field whose values were clamped to the range of its tag, or whose changes
// rounding undid. See server.Server.Losses and client.Client.Losses.
type Loss struct {
	// Component is the type of the component, command, request or message. Commands and
	// requests are checked when the client sends them, messages when the server does. Events
	// are not sent and lose nothing.
	Component, Field string
	// System is the last system that wrote the field, or the system or request handler that
	// sent the message. It is set in debug builds only (tag foretick_debug), and "" if no
	// system did. In all builds it is "(PredictRemote)" and "(Decay)" for commands that these
	// functions of the game made.
	System string
	// Outside counts values outside of the tag's range, once per tick and entity. They
	// become, or are sent as, the nearest end of the range. NaN becomes 0. In a field
	// without a range an infinity is sent as the greatest number of its type.
	Outside uint64
	// Swallowed counts changes of a predicted value that rounding undid: each was less than
	// half a step of the simulation grid, always in one direction. With a step of 1, 48 ×
	// 0.99 is 48 again. Every 16th tick is checked, and two checks in a row must find it.
	// Use a smaller step, or a field without one. A body that moves at constant speed until
	// it leans against something between two steps loses nothing: it is not counted.
	Swallowed uint64
}
