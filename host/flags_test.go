package host

import "flag"

// long plays the long forms, see .ci/run long_host.
var long = flag.Bool("long", false, "play the long forms")
