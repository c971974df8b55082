package deployment_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"

	"stepback/local/services/lambda/deployment"
)

func ExampleUnpack() {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if _, err := w.Create("../../etc/passwd"); err != nil {
		fmt.Println(err)
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	dir, err := os.MkdirTemp("", "code-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fmt.Println(deployment.Unpack(bytes.NewReader(b.Bytes()), int64(b.Len()), dir))
	// Output: the entry "../../etc/passwd" of the deployment package: its name leads out of the package
}
