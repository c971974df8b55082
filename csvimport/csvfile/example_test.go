package csvfile_test

import (
	"fmt"
	"os"
	"strings"

	"stepback/csvimport/csvfile"
)

func ExampleCheck() {
	r, err := csvfile.NewReader(strings.NewReader("ユーザーID;ログイン回数;投稿回数\nu1;3;2\nu2;three;2\n"), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := csvfile.Check(r)
	fmt.Println(report.Rows, "rows,", report.Delimiter, report.Encoding, err)
	for _, p := range report.Problems {
		fmt.Printf("line %d, %s %s\n", p.Line, p.Column, p.Message)
	}
	// Output:
	// 2 rows, semicolon UTF-8 <nil>
	// line 3, login_count "three" is not a whole number: use the digits 0 to 9 only, without sign, separators or decimals
}

func ExampleNormalise() {
	r, err := csvfile.NewReader(strings.NewReader("post_count\tuser_id\tlogin_count\n2\tC:\\home, \"x\"\t3\n"), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := csvfile.Normalise(r, os.Stdout, nil)
	fmt.Println(rows, err)
	// Output:
	// user_id,login_count,post_count,line,problem
	// "C:\\home, ""x""",3,2,2,
	// 1 <nil>
}
