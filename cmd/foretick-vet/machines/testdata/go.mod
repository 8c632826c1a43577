// The game that the analyzer's test looks at. It is never tagged.
module example.com/planted

go 1.26.0

require github.com/foretick/foretick v0.0.0

replace github.com/foretick/foretick => ../../../..
