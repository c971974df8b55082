package checksumvfs

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"io"
	"net/url"
	"os"
)

// Page is a damaged page of a database.
type Page struct {
	Number int64  // from 1
	Table  string // the table or index that it belongs to; empty if it is not known
}

// CheckPages compares all pages of the database at path with their checksums. It returns the damaged ones, at most max
// of them, and whether the database has checksums at all. Pages that the write-ahead log has anew are left out.
func CheckPages(ctx context.Context, path string, max int) (damaged []Page, sums bool, err error) {
	inLog, err := readLog(path)
	var torn *DamagedLogError
	if err != nil && !errors.As(err, &torn) { // CheckLog reports a damaged log
		return nil, false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	head, err := r.Peek(headerSize)
	if errors.Is(err, io.EOF) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	size, sums, ok := header(head)
	if !ok || !sums {
		return nil, false, nil
	}
	page := make([]byte, size)
	for n := int64(1); len(damaged) < max; n++ {
		if _, err := io.ReadFull(r, page); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		} else if err != nil {
			return nil, true, err
		}
		if !intact(page) && !inLog[uint32(n)] {
			damaged = append(damaged, Page{Number: n})
		}
		if err := ctx.Err(); err != nil {
			return nil, true, err
		}
	}
	if len(damaged) > 0 {
		nameTables(ctx, path, damaged)
	}
	return damaged, true, nil
}

// nameTables looks up the tables of pages, as far as the damaged database can be read without checksums.
func nameTables(ctx context.Context, path string, pages []Page) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro&immutable=1")
	if err != nil {
		return
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT pageno, name FROM dbstat")
	if err != nil {
		return
	}
	defer rows.Close()
	names := map[int64]string{}
	for rows.Next() {
		var number int64
		var name string
		if rows.Scan(&number, &name) != nil {
			break
		}
		names[number] = name
	}
	if rows.Err() != nil {
		return
	}
	for i := range pages {
		pages[i].Table = names[pages[i].Number]
	}
}
