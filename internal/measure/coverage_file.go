package measure

import (
	"os"
	"path/filepath"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/report/parquet"
)

// CoverageFile opens the file for the coverage of a Parquet file of calls, which is beside it in a folder that engines do not read with it. It returns nil
// for a device or a pipe, which has nothing beside it.
func CoverageFile(places *output.Places, calls *output.Target) (*output.Target, error) {
	if calls.Temp() == nil {
		return nil, nil
	}
	name := CoverageName(calls.File)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, output.CannotWrite("-o", name, err)
	}
	return places.File("-o", "parquet", name)
}

// CoverageName returns the name of the file with the coverage of a file of calls.
func CoverageName(calls string) string {
	return filepath.Join(filepath.Dir(calls), "_coverage", filepath.Base(calls))
}

// CallsName returns the name of the file of calls that a coverage belongs to.
func CallsName(coverage string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(coverage)), filepath.Base(coverage))
}

// CloseCoverage writes the coverage of a run that ended with verdict, and closes its file.
func CloseCoverage(t *output.Target, r *parquet.Run, verdict error) error {
	r.Calls, r.Exit = filepath.Base(t.File), exit.CodeOf(verdict)
	if r.Exit == exit.Partly {
		r.Error = verdict.Error()
	}
	if err := parquet.WriteCoverage(t.W, r); err != nil {
		t.Discard()
		return output.CannotWrite("-o", t.File, err)
	}
	return t.Close()
}
