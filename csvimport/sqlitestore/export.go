package sqlitestore

import (
	"context"
	"database/sql"

	"stepback/csvimport"
)

// Export implements csvimport.Store. A single SELECT sees a consistent state of the database and does not block the
// writer.
func (s *Store) Export(ctx context.Context, visit func(csvimport.User) error) error {
	return export(ctx, s.db, visit)
}

func export(ctx context.Context, db *sql.DB, visit func(csvimport.User) error) error {
	rows, err := db.QueryContext(ctx, "SELECT user_id, login_count, post_count FROM users ORDER BY user_id")
	if err != nil {
		return failure("read the users", err)
	}
	defer rows.Close()
	for rows.Next() {
		var u csvimport.User
		if err := rows.Scan(&u.UserID, &u.LoginCount, &u.PostCount); err != nil {
			return failure("read the users", err)
		}
		if err := visit(u); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return failure("read the users", err)
	}
	return nil
}
