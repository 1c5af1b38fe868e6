"""Finding a compiler's faults: programs are drawn, compiled and judged; what is wrong is shrunk and told."""
