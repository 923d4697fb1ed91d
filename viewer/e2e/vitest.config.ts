import { defineConfig } from 'vitest/config';

// One browser for all tests of a file; one file at a time.
export default defineConfig({ test: { include: ['e2e/**/*.test.ts'], environment: 'node', fileParallelism: false, testTimeout: 60000 } });
