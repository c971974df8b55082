package serve

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/alecthomas/kong"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/internal/ramdir"
)

// memory is the value of --data that keeps nothing. A directory of that name is ./memory.
const memory = "memory"

// DataDir decodes flags of type datadir: the path of a data directory, or memory.
func DataDir(c *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := c.Scan.PopValueInto("directory", &text); err != nil {
		return err
	}
	if text != memory {
		text = kong.ExpandPath(text)
	}
	target.SetString(text)
	return nil
}

// memoryLimit is the default of --memory-limit.
const memoryLimit terminal.ByteCount = 1e9

// inMemory replaces --data memory by a directory in memory. removed removes it.
func (c *Serve) inMemory(std terminal.Streams) (removed func() error, err error) {
	if c.Data != memory {
		if c.MemoryLimit != 0 {
			return nil, exit.With(exit.Usage, errors.New("--memory-limit is for --data memory: a data directory may take as much as its disk has"))
		}
		return func() error { return nil }, nil
	}
	if c.MemoryLimit == 0 {
		c.MemoryLimit = memoryLimit
	}
	dir, err := ramdir.New()
	if err != nil {
		return nil, err
	}
	c.Data, c.ephemeral = dir.Path, true
	where := "in memory"
	if !dir.InMemory {
		where = "in a temporary directory, because this system has no file system in memory"
	}
	fmt.Fprintf(std.Err, "stepback: data are kept %s, at most %d MB, and are gone when this process ends\n", where,
		int64(c.MemoryLimit)/1e6)
	return dir.Close, nil
}
