package flight

import (
	"errors"
	"fmt"
)

// Config configures a Recorder. The zero Config records 16 MB in memory.
type Config struct {
	// Name names the match. It is on the tape and begins the name of its file. It is cut to
	// 256 bytes. Empty means "match".
	Name string
	// Game is text of the game's own: what Game.New of a replay needs to make the same match,
	// such as its map and rules. At most 16 kB. A replay reads it in Info.Game of the tape.
	Game string
	// Dir is the directory for files. It is made if it does not exist. Empty means that no file
	// is written, and that the tape ends when Memory is full. See Recorder.WriteTo.
	Dir string
	// Keep writes the tape of every match when the server closes. With false a tape is written
	// after a panic, a report or Save, and other matches leave no file.
	Keep bool
	// Durable writes the tape into a file while the match runs, once a second, so that the file
	// remains if the process is killed. When the match ends well the file is removed, unless it
	// would be kept without Durable. If Dir is empty, the folder's directory is used. nil means
	// that a tape is only in memory until a panic, a report or Save.
	Durable *Folder
	// Memory is how many bytes of compressed tape are held in memory before they go into the
	// file. 0 means 16 MB. Negative is an error. At most 2³⁰.
	Memory int
	// MaxFile is the largest size of a file, in bytes. A tape that reaches it ends, and the
	// match continues. 0 means 1 GiB. Negative is an error. At most 2⁴⁰.
	MaxFile int64
}

func (c *Config) checkConfig() error {
	var errs []error
	if c.Memory < 0 || c.Memory > 1<<30 {
		errs = append(errs, fmt.Errorf("flight: Config.Memory is %d: use up to 2³⁰ bytes, or 0 for 16 MB", c.Memory))
	}
	if c.MaxFile < 0 || c.MaxFile > 1<<40 {
		errs = append(errs, fmt.Errorf("flight: Config.MaxFile is %d: use up to 2⁴⁰ bytes, or 0 for 1 GiB", c.MaxFile))
	}
	if c.Durable != nil && c.Dir == "" {
		c.Dir = c.Durable.cfg.Dir
	}
	if len(c.Game) > 16<<10 {
		errs = append(errs, fmt.Errorf("flight: Config.Game has %d bytes: the most is 16 384", len(c.Game)))
	}
	c.Name = c.Name[:min(len(c.Name), 256)]
	if c.Name == "" {
		c.Name = "match"
	}
	if c.Memory == 0 {
		c.Memory = 16 << 20
	}
	if c.MaxFile == 0 {
		c.MaxFile = 1 << 30
	}
	return errors.Join(errs...)
}
