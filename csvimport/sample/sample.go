// Package sample writes CSV files of invented user activity. The same seed gives the same file. The files are for
// trying things out and for tests; nothing else uses them.
package sample

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
)

// Options define the generated file.
type Options struct {
	// Rows is the number of data rows, 0 or more.
	Rows int
	// Seed selects the file: the same seed and rows give the same bytes.
	Seed uint64
	// Users is the number of users that rows are drawn from; 0 means one for every four rows.
	Users int
	// Invalid is the share of rows, 0 to 1, that violate a rule (an empty user id, or a count that is not a number).
	Invalid float64
	// Japanese writes the header as ユーザーID,ログイン回数,投稿回数 instead of user_id,login_count,post_count.
	Japanese bool
}

// rowsPerUser is the average number of rows per user, so that counts have to be added up.
const rowsPerUser = 4

// Write writes a file: UTF-8, commas, one header line, \n line ends.
func Write(w io.Writer, o Options) error {
	out := bufio.NewWriterSize(w, 1<<16)
	header := "user_id,login_count,post_count\n"
	if o.Japanese {
		header = "ユーザーID,ログイン回数,投稿回数\n"
	}
	if _, err := out.WriteString(header); err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(o.Seed, 0x5eed))
	users := o.Users
	if users == 0 {
		users = max(1, o.Rows/rowsPerUser)
	}
	line := make([]byte, 0, 64)
	for range o.Rows {
		line = appendRow(line[:0], rnd, users, rnd.Float64() < o.Invalid)
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

func appendRow(dst []byte, rnd *rand.Rand, users int, invalid bool) []byte {
	user, logins, posts := 1+rnd.IntN(users), rnd.IntN(50), rnd.IntN(20)
	if invalid && logins%2 == 0 {
		return fmt.Appendf(dst, ",%d,%d\n", logins, posts)
	}
	dst = fmt.Appendf(dst, "user%07d,", user)
	if invalid {
		return fmt.Appendf(dst, "many,%d\n", posts)
	}
	dst = strconv.AppendInt(dst, int64(logins), 10)
	dst = append(dst, ',')
	dst = strconv.AppendInt(dst, int64(posts), 10)
	return append(dst, '\n')
}
