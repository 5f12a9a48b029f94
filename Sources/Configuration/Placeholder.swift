// Configuration: see DESIGN in docs/architecture.md. (This line goes when the first file comes.)
