"""What every page needs: layout, forms, headers, problems."""
