package s3

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"stepback/aws"
)

// StorageFull is the error code of a request that fails because the disk (or the quota) under the data directory is
// full. S3 itself has no such code; the status is 500.
const StorageFull = "StorageFull"

// storageError converts an error of the file system or of the request's body to an error for the client. S3 errors
// are returned unchanged.
func (s *store) storageError(err error) error {
	if err == nil {
		return nil
	}
	var known *aws.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fail(StorageFull, fmt.Sprintf(
			"The disk that holds %s is full (%v). The object was not stored; what was there before is unchanged. "+
				"Free some space and send it again.", s.root, err), nil)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fail("RequestTimeout", tooSlow, nil)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return cutOff(err)
	}
	return fail("InternalError", fmt.Sprintf("The storage under %s failed: %v", s.root, err), nil)
}

// tooSlow is S3's message for a body that does not arrive.
const tooSlow = "Your socket connection to the server was not read from or written to within the timeout period. " +
	"Idle connections will be closed."

func isNotDirectory(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
