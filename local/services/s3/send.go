package s3

import (
	"errors"
	"io"
	"os"

	"stepback/aws"
)

// invalidPartNumber is the error of a read of a part that an object does not have.
var invalidPartNumber = aws.Error{Code: "InvalidPartNumber", Status: 416, Message: "The requested partnumber is not satisfiable"}

func errorAs[T error](err error, target *T) bool { return errors.As(err, target) }

// send writes a range of a version's content. A whole content is compared with its checksum while it is read; a
// range is not. If it is damaged, the response ends early, which its length shows.
func (s *store) send(c *call, f *os.File, v *version, r span, status int) error {
	if r.start != 0 || r.length != v.Size {
		c.w.WriteHeader(status)
		_, _ = io.Copy(c.w, io.NewSectionReader(f, r.start, r.length)) // if this fails, the client has disconnected
		return nil
	}
	content, err := s.verifiedContent(f, v)
	if err != nil {
		return s.storageError(err)
	}
	defer content.Close()
	c.w.WriteHeader(status)
	if _, err := io.Copy(c.w, content); err != nil {
		s.log.Debug("an object was not sent completely", "bucket", c.bucket, "key", c.key, "error", err)
	}
	return nil
}
