import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  // One page, one chunk, served from this machine: its size is no reason to warn whoever starts it.
  build: { outDir: "dist", sourcemap: false, chunkSizeWarningLimit: 1000 },
  server: { proxy: { "/api": "http://127.0.0.1:8000", "/ws": { target: "ws://127.0.0.1:8000", ws: true } } },
  test: { include: ["tests/**/*.test.{ts,tsx}"], environment: "node" },
});
