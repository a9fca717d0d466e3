package jvm

// Find returns the absolute path of java: of PATH if the text is empty, a program, or that of the JDK in a folder.
func Find(java string) (string, error) { return findJava(java) }
