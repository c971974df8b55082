package imports

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/csvimport"
	"stepback/csvimport/database"
	"stepback/csvimport/pipeline"
)

// Export implements the verb export.
type Export struct {
	Users exportUsersCmd `cmd:"" help:"Print the user counters as CSV: user_id,login_count,post_count."`
}

type exportUsersCmd struct {
	Data string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory. Default .stepback."`
	DB   string `name:"db" default:"sqlite" placeholder:"sqlite|postgres://…" help:"Database, as given to run."`
	JSON bool   `name:"json" help:"Print one JSON object per user and line."`
}

// Help shows an example.
func (exportUsersCmd) Help() string {
	return "Example:\n  stepback export users --data .stepback > users.csv"
}

// Run prints the users in the order of their IDs.
func (c *exportUsersCmd) Run(ctx context.Context, std terminal.Streams) (err error) {
	address, err := pipeline.DatabaseURL(c.Data, c.DB)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if path, _, ok := database.SQLitePath(address); ok && !terminal.Exists(path) {
		return fmt.Errorf("there is no database at %s; stepback run creates one", path)
	}
	store, err := database.OpenReader(ctx, address)
	if err != nil {
		return err
	}
	defer func() {
		if e := store.Close(); err == nil {
			err = e
		}
	}()
	if c.JSON {
		lines := json.NewEncoder(std.Out)
		return store.Export(ctx, func(u csvimport.User) error {
			return lines.Encode(map[string]any{
				"userId": u.UserID, "loginCount": u.LoginCount, "postCount": u.PostCount,
			})
		})
	}
	w := csv.NewWriter(std.Out)
	if err := w.Write([]string{"user_id", "login_count", "post_count"}); err != nil {
		return err
	}
	err = store.Export(ctx, func(u csvimport.User) error {
		return w.Write([]string{u.UserID, strconv.FormatInt(u.LoginCount, 10), strconv.FormatInt(u.PostCount, 10)})
	})
	if err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}
