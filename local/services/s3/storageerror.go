package s3

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"syscall"

	"github.com/johannesboyne/gofakes3"

	"stepback/aws"
)

// StorageFull is the error code of a request that fails because the disk (or the quota) under the data directory is
// full. S3 itself has no such code; the status is 500.
const StorageFull = "StorageFull"

// storageError converts an error of the file system or of the request's body to an error for the client. S3 errors
// are returned unchanged.
func (s *store) storageError(err error) error {
	var known gofakes3.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return gofakes3.ErrorMessage(StorageFull, fmt.Sprintf(
			"The disk that holds %s is full (%v). The object was not stored; what was there before is unchanged. "+
				"Free some space and send it again.", s.root, err))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return gofakes3.ErrorMessage(errRequestTimeout, tooSlow)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return gofakes3.ErrorMessage(gofakes3.ErrIncompleteBody,
			"The connection ended before the whole body had arrived; nothing was stored.")
	}
	return gofakes3.ErrorMessage(gofakes3.ErrInternal, fmt.Sprintf("The storage under %s failed: %v", s.root, err))
}

// tooSlow is S3's message for a body that does not arrive.
const tooSlow = "Your socket connection to the server was not read from or written to within the timeout period. " +
	"Idle connections will be closed."

// cutOff returns the error for a message whose body could not be read.
func cutOff(err error) *aws.Error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &aws.Error{Code: string(errRequestTimeout), Status: http.StatusBadRequest, Message: tooSlow}
	}
	return &aws.Error{Code: "IncompleteBody", Status: http.StatusBadRequest,
		Message: "The request's body ended early: " + err.Error()}
}

func keyNotFound() error {
	return gofakes3.ErrorMessage(gofakes3.ErrNoSuchKey, "The specified key does not exist.")
}

func isNotDirectory(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
